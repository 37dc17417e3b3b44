// Baseline for checks: csv-parse reading a file. Arguments: file, expected number of records.
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";

const [, , file, expected] = process.argv;
const parser = parse();
let records = 0;
parser.on("readable", () => {
  while (parser.read() !== null) records += 1;
});
await pipeline(createReadStream(file), parser);
if (records !== Number(expected)) throw new Error(`${records} records came`);
