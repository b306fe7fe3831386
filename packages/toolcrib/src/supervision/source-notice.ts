/** What befell a source that its status does not count. */
export type SourceNotice = 'restarted' | 'heartbeat-failed' | 'standby-used' | 'standby-missed';
