import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { CribError } from '../../../model/crib-error.ts';
import { dockerMissing } from './docker-failure.ts';

/** How to install the programs that start servers. */
const cures: Record<string, string> = {
  npx: 'install Node.js with npm',
  node: 'install Node.js',
  uvx: 'install uv',
  uv: 'install uv',
  python: 'install Python',
  python3: 'install Python',
};

/** [ERR-1] [ERR-2] Why a program could not be started at all, and what to do. */
export async function spawnFailure(error: unknown, program: string, cwd: string | null): Promise<CribError> {
  const { code, message } = error as NodeJS.ErrnoException;
  // The system reports a missing directory with the same error as a missing program.
  const directory = cwd === null ? 'there' : await lookAtDirectory(cwd);
  if (directory !== 'there') {
    const problem = directory === 'missing' ? 'does not exist' : 'is not a directory that this account may use';
    return new CribError('NOT_FOUND', `The working directory ${cwd} ${problem}. Create it, or change \`cwd\`.`, {
      field: 'cwd',
      cause: error,
    });
  }
  const name = basename(program).replace(/\.(cmd|exe)$/i, '');
  switch (code ?? '') {
    case 'ENOENT':
      if (name === 'docker') return dockerMissing(program);
      return new CribError('NOT_FOUND', `The program ${program} was not found. ${cureFor(program, name)}.`, {
        field: 'command',
        cause: error,
      });
    case 'EACCES':
      return invalid(error, `The file ${program} cannot be run by this account. Make it executable (chmod +x), or name another program.`);
    case 'E2BIG':
      return invalid(error, 'The arguments and the environment of the server together are too long for this system. Shorten them.');
    case 'ERR_INVALID_ARG_VALUE':
    case 'ERR_INVALID_ARG_TYPE':
      return invalid(error, `The command cannot be started: ${message}`);
    default:
      return new CribError('SERVICE_UNAVAILABLE', `The program ${program} could not be started: ${message}.`, { cause: error });
  }
}

function cureFor(program: string, name: string): string {
  const install = cures[name] ?? 'install it';
  const byPath = /[\\/]/.test(program);
  return byPath ? `Check its path, or ${install}` : `${install.replace('install', 'Install')}, or give its full path in \`command\``;
}

function invalid(cause: unknown, message: string): CribError {
  return new CribError('VALIDATION_ERROR', message, { field: 'command', cause });
}

async function lookAtDirectory(path: string): Promise<'there' | 'missing' | 'unusable'> {
  try {
    return (await stat(path)).isDirectory() ? 'there' : 'unusable';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'unusable';
  }
}
