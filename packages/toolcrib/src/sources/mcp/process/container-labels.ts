/** The data directory that a container belongs to, whichever Toolcrib uses it. */
export const ownerLabel = 'dev.toolcrib.owner';
/** The start of Toolcrib that made the container. Containers of another start are leftovers. */
export const runLabel = 'dev.toolcrib.run';
export const sourceLabel = 'dev.toolcrib.source';
