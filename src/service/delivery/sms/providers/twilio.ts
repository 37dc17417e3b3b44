import { createHmac } from "node:crypto";
import { isSameText } from "../../../domain/secrets.ts";
import {
  anyCode,
  asObject,
  asText,
  BAD_NUMBER,
  FAILED,
  fieldText,
  NONSENSE,
  RETRY,
  sentAs,
  type SmsProvider,
  STOPPED,
} from "./provider.ts";

const BY_CODE: SmsProvider["byCode"] = {
  "21610": STOPPED,
  "21211": BAD_NUMBER,
  "21614": BAD_NUMBER,
  "21217": BAD_NUMBER,
  "20429": RETRY,
};

export const TWILIO: SmsProvider = {
  body: "form",
  toFields: ({ from }, { to, text }) => {
    const isService = /^MG[\da-f]{32}$/i.test(from ?? "");
    return { To: to, [isService ? "MessagingServiceSid" : "From"]: from ?? "", Body: text };
  },
  credentials: "header",
  answersWords: true,
  accepted: (body) => {
    const { sid, error_code: error } = asObject(body);
    if (typeof sid !== "string" || sid === "") return NONSENSE;
    const code = error === null || error === undefined ? null : asText(error);
    return code === null ? sentAs(sid) : { ...(BY_CODE[code] ?? FAILED), code };
  },
  codeOf: anyCode,
  byCode: BY_CODE,
  incoming: {
    isFrom: (fields) => "MessageSid" in fields || "SmsSid" in fields,
    flatten: (fields) => fields,
    isSigned: (key, { request: { url, method, headers }, fields }) => {
      const form = method === "GET" ? {} : fields;
      const names = Object.keys(form).toSorted();
      const text = url + names.map((name) => name + fieldText(form[name])).join("");
      const expected = createHmac("sha1", key).update(text).digest("base64");
      return isSameText(headers["x-twilio-signature"] ?? "", expected);
    },
    keyProblem: (key) => (/^[\da-f]{32}$/i.test(key) ? null : "is not an auth token"),
    // Empty, because Twilio would send the body as a text message; our replies go through the gateway.
    answer: {
      status: 200,
      headers: { "content-type": "text/xml; charset=utf-8" },
      body: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
    },
  },
};
