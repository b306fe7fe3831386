/** What happened to a call on its way that no answer's status tells. */
export type CallNotice = 'retried' | 'cut' | 'output-schema-violated';
