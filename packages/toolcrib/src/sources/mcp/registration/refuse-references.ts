import { invalid } from '../../registration/invalid.ts';

/** `${NAME}` reads our secrets when a server starts, so a registration may contain it, but a manifest, which others write, may not. */
export function refuseReferences(value: unknown, { name, field }: { name: string; field: string }, path = ''): void {
  if (typeof value === 'string' && value.includes('${') && !/(?:^|\.)(?:description|placeholder|title)$/.test(path)) {
    throw invalid(field, `${name}: ${path}: a manifest cannot refer to secrets or variables by \${…}`, { file: name, field: path });
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    refuseReferences(inner, { name, field }, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`.replace(/^\./, ''));
  }
}
