import { expect, test } from "vitest";
import { classifyError } from "../../../../src/service/store/postgres/postgres-errors.ts";

test.each([
  ["40001", "again"],
  ["57P01", "lost"],
  ["53300", "unavailable"],
  ["26000", "unprepared"],
  ["23502", "fault"],
  ["42P01", "fault"],
])("when the server says %s, then it is %s", (code, kind) => {
  expect(classifyError(Object.assign(new Error("refused"), { severity: "ERROR", code }))).toBe(kind);
});

test.each([
  ["ECONNRESET", "lost"],
  ["EPIPE", "lost"],
  ["EPROTO", "lost"],
  ["EAI_FAIL", "lost"],
  ["CERT_HAS_EXPIRED", "lost"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "lost"],
  ["ERR_STREAM_DESTROYED", "lost"],
  ["ERR_INVALID_ARG_TYPE", "fault"],
])("when Node says %s, then it is %s", (code, kind) => {
  expect(classifyError(Object.assign(new Error("broken"), { code }))).toBe(kind);
});

test.each([
  ["Connection terminated unexpectedly", "lost"],
  ["x is not a function", "fault"],
])("when all that is said is %j, then it is %s", (message, kind) => {
  expect(classifyError(new Error(message))).toBe(kind);
});
