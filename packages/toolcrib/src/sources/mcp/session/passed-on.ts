/** [DOOR-5] Requests of servers, beside questions, that go to the client of the caller. */
export const passedOn: ReadonlySet<string> = new Set(['sampling/createMessage', 'roots/list']);
