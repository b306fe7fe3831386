/** The upstream of every gateway in `mcp-calls.ts`: an MCP echo over stdio, written by hand to cost as little as possible. */
import { mcpEchoAnswer } from './mcp-echo-answer.ts';

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  let answers = '';
  for (const line of lines) {
    const answer = line.trim() === '' ? undefined : mcpEchoAnswer(line);
    if (answer !== undefined) answers += `${answer}\n`;
  }
  if (answers !== '') process.stdout.write(answers);
});
process.stdin.on('end', () => process.exit());
