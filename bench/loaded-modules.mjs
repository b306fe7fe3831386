/** Preloaded into a server: lists in TOOLCRIB_BENCH_MODULES the address of every file that it loads, in the order of loading. */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const file = process.env['TOOLCRIB_BENCH_MODULES'];
if (file !== undefined && isMainThread) {
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) appendFileSync(file, `${url}\n`);
      return next(url, context);
    },
  });
}
