/** How gateway responses are interpreted. The commonest ones are tested end to end in `sms-sender.engines.test.ts`. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { readGatewayAnswer } from "../../../../src/service/delivery/sms/gateway.ts";
import { SMS_FORMATS, type SmsFormat } from "../../../../src/service/delivery/sms/formats.ts";
import { INCOMING_FORMS } from "../../../../src/service/delivery/sms/providers/providers.ts";

/** Expected: outcome, effect on the sender, wait in seconds, the provider's code and message id. */
it.each<[SmsFormat, number, string, string]>([
  ["json", 202, '{"data":{"id":"d1"}}', "sent none - - d1"],
  ["json", 200, '{"messages":[{"message-id":"m1"}]}', "sent none - - m1"],
  ["json", 200, '{"success":true,"error":null,"errors":[]}', "sent none - - -"],
  ["json", 200, '{"status":"failed","code":12}', "failed strike - 12 -"],
  ["json", 200, '{"error":{"code":"no_credit"}}', "failed strike - no_credit -"],
  ["json", 200, '{"id":"i1","errors":{}}', "sent none - - i1"],
  ["json", 200, '{"id":"i1","error":"0"}', "sent none - - i1"],
  ["json", 200, '{"id":"i1","error":"None"}', "sent none - - i1"],
  ["json", 200, '"OK"', "sent none - - -"],
  ["json", 200, '"ERROR 12"', "failed strike - 12 -"],
  ["json", 200, "-3", "failed strike - -3 -"],
  ["json", 200, '{"success":"false"}', "failed strike - - -"],
  ["json", 200, '{"type":"error","code":"201"}', "failed strike - 201 -"],
  ["json", 200, '{"status":"REJECTED","id":"i1"}', "failed strike - - -"],
  ["json", 200, '{"messages":[{"status":"failed","id":"i1"}]}', "failed strike - - -"],
  ["json", 200, '[{"error":"no credit","id":"i1"}]', "failed strike - - -"],
  ["json", 200, "PK\u0003\u0004", "unknown breaker - - -"],
  ["json", 408, "", "retry back-off 7 - -"],
  ["json", 429, "", "retry back-off 7 - -"],
  ["json", 502, "", "retry back-off 7 - -"],
  ["json", 402, '{"code":9}', "held breaker - 9 -"],
  ["json", 404, "", "held breaker - - -"],
  ["json", 422, '{"errors":[{"code":"bad"}]}', "failed strike - bad -"],
  ["form", 200, "ID: 205e85", "sent none - - 205e85"],
  ["form", 200, "ERR: 114, Cannot route", "failed strike - 114 -"],
  ["twilio", 201, '{"sid":"SM1","error_code":21610}', "bounced stopped none - 21610 -"],
  ["twilio", 400, '{"code":21614}', "bounced none - 21614 -"],
  ["twilio", 429, '{"code":20429}', "retry back-off 7 20429 -"],
  ["twilio", 401, '{"code":20003}', "held breaker - 20003 -"],
  ["telnyx", 400, '{"errors":[{"code":"40300"}]}', "bounced stopped none - 40300 -"],
  ["telnyx", 400, '{"errors":[{"code":"40310"}]}', "bounced none - 40310 -"],
  ["telnyx", 200, '{"data":{}}', "unknown breaker - - -"],
  ["vonage", 200, '{"messages":[{"status":"0","message-id":"a"},{"status":"0"}]}', "sent none - - a"],
  ["vonage", 200, '{"messages":[{"status":"0"},{"status":"5"}]}', "unknown breaker - - -"],
  ["vonage", 200, '{"messages":[{"status":"7"}]}', "bounced stopped none - 7 -"],
  ["vonage", 200, '{"messages":[{"status":"9"}]}', "held breaker - 9 -"],
  ["vonage", 200, "[]", "unknown breaker - - -"],
])("when %s answers %d %s, then it means %s", (format, status, text, meaning) => {
  const read = readGatewayAnswer(format, { status, text, retryAfter: 7 });
  const { outcome, sender, strike, hasStopped, afterSeconds, code, serverId } = read;
  const words = [outcome, ...(hasStopped ? ["stopped"] : []), strike ? "strike" : sender];
  expect([...words, afterSeconds ?? "-", code ?? "-", serverId ?? "-"].join(" ")).toBe(meaning);
});

it.each(SMS_FORMATS)("when %s is a format, then the guide has its rows", (format) => {
  const guide = readFileSync(path.join(import.meta.dirname, "../../../../docs/sms.md"), "utf8");
  expect(guide).toMatch(new RegExp(`^\\| \`${format}\`(?: \\([^|]*\\))? (?:\\|[^|]{3,}){3}\\|$`, "m"));
});

it.each([...INCOMING_FORMS.keys()])("when %s signs its texts, then the guide says how its key is given", (provider) => {
  const guide = readFileSync(path.join(import.meta.dirname, "../../../../docs/sms.md"), "utf8");
  expect(guide).toMatch(new RegExp(`^\\| ${provider} +\\| +\`--${provider}-[a-z]+ FILE\`.{20,}\\|$`, "im"));
});
