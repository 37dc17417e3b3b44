// Listing many rows needs constant memory, because rows are written as they arrive.
import { KEY, runProgram, startStub } from "./programs.js";
import { atMost } from "./report.js";

const stub = await startStub("pages-server.js", "100000");
const { peakMb, bytes } = await runProgram(["responses", "list", "--all", "-o", "ndjson", "--quiet"], {
  SURVEYCTL_BASE_URL: stub.url,
  SURVEYCTL_API_KEY: KEY,
});
if (bytes < 100_000 * 200) throw new Error(`only ${bytes} bytes came out`);
atMost("100,000 responses as ndjson, peak MB", peakMb, 120);
await stub.stop();
