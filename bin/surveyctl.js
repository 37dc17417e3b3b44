#!/usr/bin/env node
try {
  const { main } = await import("../dist/main.js");
  process.exitCode = await main(process);
} catch (error) {
  if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  const clone = import.meta.dirname.replace(/[\\/]bin$/, "");
  process.stderr.write(`error: surveyctl is not built; run: npm run build --prefix ${clone}\n`);
  process.exitCode = 1;
}
