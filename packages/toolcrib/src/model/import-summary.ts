import { z } from 'zod';
import { importReportSchema, type ImportReport } from './import-report.ts';

const mostShown = 100;

/** [OAS-1] What became of a document, without the far end of long lists. */
export const importSummarySchema = importReportSchema.extend({
  skipped_total: z.int().min(0).describe('How many operations did not become tools; the first of them are listed'),
  warnings_total: z.int().min(0).describe('How many there are; the first of them are listed'),
});
export type ImportSummary = z.infer<typeof importSummarySchema>;

export function summariseImport(report: ImportReport): ImportSummary {
  const { skipped, warnings, servers, external_refs } = report;
  return {
    ...report,
    skipped: skipped.slice(0, mostShown),
    skipped_total: skipped.length,
    warnings: warnings.slice(0, mostShown),
    warnings_total: warnings.length,
    servers: servers.slice(0, mostShown),
    external_refs: external_refs.slice(0, mostShown),
  };
}
