import type { ParkedConnection } from '../identity/oauth/connections.ts';
import { sourceOwner } from '../model/connection.ts';
import type { SourceRecord } from '../model/source.ts';
import { connectionPage } from './connection-page.ts';

/** [BFF-6] For the person who has just allowed a connection. Whether that is the one who began it, only they can know. */
export function parkedPage({ source, owner, begunBy, loopbackPort, redemptionCode }: ParkedConnection & { source: SourceRecord }): string {
  const purpose = owner === sourceOwner ? ' for the source itself' : '';
  // The user who started the connection chose only the port of this address. Only a person who confirms to be that user follows the link.
  const link = { href: `http://127.0.0.1:${loopbackPort}/?code=${redemptionCode}`, text: `I am ${begunBy}: finish now` };
  return connectionPage('One step is left', [
    `${begunBy} asked to connect ${source.name}${purpose} with the account that you have just used. Nothing is connected yet.`,
    `If you are ${begunBy}, finish it within a minute${loopbackPort === undefined ? ' with this code:' : ', here or with this code:'}`,
    ...(loopbackPort === undefined ? [] : [link]),
    { code: redemptionCode },
    `If you are not ${begunBy}, close this page. Pass the code on to nobody: with it, ${begunBy} could use your account.`,
  ]);
}
