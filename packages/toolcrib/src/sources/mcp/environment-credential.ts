import type { Redactor } from '../../secrets/redactor.ts';
import type { UpstreamCredential } from '../upstream/upstream-credential.ts';

/** [ID-6] The credential of one user as an environment variable of that user's process; none for discovery without a credential. */
export async function environmentCredential(
  name: string | null,
  credential: UpstreamCredential,
  redactor: Pick<Redactor, 'add'>,
): Promise<Record<string, string>> {
  if (name === null) return {};
  switch (credential.type) {
    case 'tokens': {
      const { accessToken } = await credential.tokens.get();
      redactor.add(accessToken);
      return { [name]: accessToken };
    }
    case 'header':
      return { [name]: credential.value.replace(/^Bearer /, '') };
    case 'none':
    case 'query':
      return {};
  }
}
