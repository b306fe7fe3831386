/** The owner of the connection that a source has for itself. The key of a principal always has a space in it. */
export const sourceOwner = 'source';

/** [BFF-6] Where a user who has no connection begins one. */
export function connectUrl(sourceId: string, owner: string): string {
  return `/api/connections/${sourceId}${purposeOf(owner)}`;
}

/** [BFF-6] Where the one who began it finishes it. */
export function redeemUrl(sourceId: string, owner: string): string {
  return `/api/connections/${sourceId}/redeem${purposeOf(owner)}`;
}

function purposeOf(owner: string): string {
  return owner === sourceOwner ? '?for=discovery' : '';
}
