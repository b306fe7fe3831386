/** The database schema with the tables of DBOS. */
export const engineSchema = 'toolcrib_durable';
