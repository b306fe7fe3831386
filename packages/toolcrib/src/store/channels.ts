/** The PostgreSQL channels servers tell each other through: of changes that were committed, and of signals that leave no record. */
export const changesChannel = 'toolcrib_changes';
export const signalsChannel = 'toolcrib_signals';
