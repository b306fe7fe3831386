/** `/usr/bin/python3.12` is `python`, `C:\Windows\CMD.EXE` is `cmd`. */
export function programName(path: string): string {
  const file = path.replaceAll('\\', '/').split('/').at(-1) ?? '';
  const plain = file.toLowerCase().replace(/\.(?:exe|cmd|bat|com|ps1)$/, '');
  return /^(?:python|pythonw|pypy|perl|ruby|php|lua)[\d.]*$/.test(plain) ? plain.replace(/[\d.]+$/, '') : plain;
}

/** Whether a program runs containers. All of these programs have the same `run`. */
export function isContainerRunner(program: string): boolean {
  return program === 'docker' || program === 'podman' || program === 'nerdctl';
}
