import type { BuiltinTool } from './builtin-tool.ts';
import { calculatorTool } from './tools/calculator.ts';
import { callToolTool } from './tools/call-tool.ts';
import { convertUnitsTool } from './tools/convert-units.ts';
import { currentTimeTool } from './tools/current-time.ts';
import { describeToolTool } from './tools/describe-tool.ts';
import { hashTool } from './tools/hash.ts';
import { jsonQueryTool } from './tools/json-query.ts';
import { searchToolsTool } from './tools/search-tools.ts';
import { textDiffTool } from './tools/text-diff.ts';
import { uuidTool } from './tools/uuid.ts';
import { waitTool } from './tools/wait.ts';

/** [BI-1] [BI-2] All built-in tools. To add a tool, add a file to `tools/` and a line here. */
export const builtinTools: readonly BuiltinTool[] = [
  currentTimeTool,
  waitTool,
  jsonQueryTool,
  textDiffTool,
  calculatorTool,
  convertUnitsTool,
  uuidTool,
  hashTool,
  searchToolsTool,
  describeToolTool,
  callToolTool,
];
