// Prints `<passed> <failed>` of Vitest's JSON report; a report that cannot be read is one failure.
import { readFileSync } from "node:fs";

try {
  const report = JSON.parse(readFileSync(process.argv[2], "utf8"));
  const brokenFiles = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length;
  console.log(report.numPassedTests, report.numFailedTests + brokenFiles);
} catch {
  console.log(0, 1);
}
