/** Where DBOS keeps what it knows, in the database of the server. */
export const engineSchema = 'toolcrib_durable';
