import type { FastifyInstance } from 'fastify';
import { CribError } from '../model/crib-error.ts';

/** Lets the routes of a scope take plain text beside JSON, and bodies that are not there, which some clients call a form. */
export function takeAnyBody(scope: FastifyInstance): void {
  scope.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    if (body === '') done(null, undefined);
    else done(new CribError('VALIDATION_ERROR', 'Send the body as application/json or text/plain', { field: 'Content-Type' }));
  });
}
