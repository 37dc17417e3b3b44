import { describe, expect, it } from "vitest";
import { runInProcess } from "../../../helpers/in-process.ts";

const REFUSED: readonly (readonly [line: string, message: string])[] = [
  ["--confidence 95", '--confidence: "95" is not between 0 and 1, such as 0.95'],
  ["--confidence 0", '--confidence: "0" is not between 0 and 1, such as 0.95'],
  ["--confidence 1", '--confidence: "1" is not between 0 and 1, such as 0.95'],
  ["--confidence 95%", '--confidence: "95%" is not between 0 and 1, such as 0.95'],
  ["--raw --by month", "--raw and --by cannot be used together"],
  ["--raw --confidence 0.9", "--raw and --confidence cannot be used together"],
  ["--raw --columns nps", "--raw and --columns cannot be used together"],
  ["--raw -o csv", "--raw is JSON as the service sent it, which -o csv is not"],
  ["--segment plan --by month", "--segment and --by cannot be used together"],
  ["--segment plan --assert nps>1", "--segment and --assert cannot be used together"],
  ["--segment plan,", '--segment: "plan," holds an empty name; write name,name'],
  ["--segment plan --min-n 0", '--min-n: must be a whole number, 1 or more (got "0")'],
  ["--segment plan --compare previous", "--compare previous requires --since"],
  ["--segment plan --columns nps,score", '--columns: "score" is not a column of segments'],
  ["--min-n 5", "--min-n requires --segment"],
  ["--explain-change", "--explain-change requires --segment"],
  ["--segment plan --explain-change", "--explain-change requires --compare"],
  [
    "--segment plan,region --explain-change --compare previous --since 7d",
    "--explain-change splits by one property; give --segment one name",
  ],
  ["--histogram --compare previous", "--histogram and --compare cannot be used together"],
  ["--histogram --columns comment", '--columns: "comment" is not a column of scores'],
  ["--moves --by month", "--moves and --by cannot be used together"],
  ["--moves --segment plan", "--moves and --segment cannot be used together"],
  ["--moves --score 9", "--moves and --score cannot be used together"],
  ["--moves --columns nps", '--columns: "nps" is not a column of moves'],
  ["--raw --score 9", "--raw and --score cannot be used together"],
  ["--group email --search refund", "--group and --search cannot be used together"],
  ["--score 11", '--score: "11" is not scores from 0 to 10, as in 9, 0-6 or 0-6,9'],
];

describe("metrics", () => {
  it.each(REFUSED)("%s is refused in one sentence", async (line, message) => {
    const { status, stdout, stderr } = await runInProcess({ args: ["metrics", ...line.split(" ")] });
    expect([status, stdout, stderr.split("\n")[0]?.slice(0, message.length + 7)]).toEqual([2, "", `error: ${message}`]);
  });
});
