import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';
import { first } from './2026-11-15-first.ts';
import { sourceDefinitions } from './2026-11-16-source-definitions.ts';
import { storedArtifacts } from './2026-11-16-stored-artifacts.ts';
import { toolPinning } from './2026-11-16-tool-pinning.ts';
import { userConnections } from './2026-11-16-user-connections.ts';
import { auditChains } from './2026-11-17-audit-chains.ts';
import { managedByFile } from './2026-11-17-managed-by-file.ts';
import { documents } from './2026-11-18-documents.ts';
import { durableJobs } from './2026-11-18-durable-jobs.ts';
import { begunAnswers } from './2026-11-19-begun-answers.ts';
import { sealedAnswers } from './2026-11-19-sealed-answers.ts';
import { changeAddresses } from './2026-11-20-change-addresses.ts';
import { callsInFlight } from './2026-11-21-calls-in-flight.ts';
import { developmentPolicies } from './2026-11-22-development-policies.ts';
import { namesOfPeople } from './2026-11-23-names-of-people.ts';
import { callsThatFailed } from './2026-11-24-calls-that-failed.ts';
import { callOrigins } from './2026-11-25-call-origins.ts';
import { registrations } from './2026-11-26-registrations.ts';
import { journals } from './2026-11-27-journals.ts';
import { callDoors } from './2026-11-28-call-doors.ts';
import { endedSessions } from './2026-11-29-ended-sessions.ts';
import { loginBridge } from './2026-11-29-login-bridge.ts';

/** Every step there ever was, in the order of their names. A released step is never edited: a further one is added. */
export function migrations(dialect: DialectName): Record<string, Migration> {
  return {
    '2026-11-15-first': first(dialect),
    '2026-11-16-source-definitions': sourceDefinitions,
    '2026-11-16-stored-artifacts': storedArtifacts(dialect),
    '2026-11-16-tool-pinning': toolPinning,
    '2026-11-16-user-connections': userConnections(dialect),
    '2026-11-17-audit-chains': auditChains(dialect),
    '2026-11-17-managed-by-file': managedByFile,
    '2026-11-18-documents': documents(dialect),
    '2026-11-18-durable-jobs': durableJobs(dialect),
    '2026-11-19-begun-answers': begunAnswers,
    '2026-11-19-sealed-answers': sealedAnswers(dialect),
    '2026-11-20-change-addresses': changeAddresses,
    '2026-11-21-calls-in-flight': callsInFlight(dialect),
    '2026-11-22-development-policies': developmentPolicies,
    '2026-11-23-names-of-people': namesOfPeople,
    '2026-11-24-calls-that-failed': callsThatFailed,
    '2026-11-25-call-origins': callOrigins,
    '2026-11-26-registrations': registrations,
    '2026-11-27-journals': journals(dialect),
    '2026-11-28-call-doors': callDoors,
    '2026-11-29-ended-sessions': endedSessions(dialect),
    '2026-11-29-login-bridge': loginBridge(dialect),
  };
}
