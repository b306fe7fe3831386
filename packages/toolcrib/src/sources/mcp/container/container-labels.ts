/** Whose a container is: a data directory's, whichever Toolcrib runs with it. */
export const ownerLabel = 'dev.toolcrib.owner';
/** For which start of it the container was made. What belongs to another start is left over. */
export const runLabel = 'dev.toolcrib.run';
export const sourceLabel = 'dev.toolcrib.source';
