import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CribError } from '../model/crib-error.ts';

const pemPattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates in a PEM file, each of which is checked to be readable. */
export function readCertificates(file: string): string[] {
  try {
    const certificates = readFileSync(file, 'utf8').match(pemPattern) ?? [];
    if (certificates.length === 0) throw new Error('it holds no certificate between BEGIN CERTIFICATE and END CERTIFICATE');
    return certificates.map((certificate) => new X509Certificate(certificate).toString());
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CribError('VALIDATION_ERROR', `The certificates in ${file} cannot be used: ${reason}`, { field: 'ca-file', cause });
  }
}
