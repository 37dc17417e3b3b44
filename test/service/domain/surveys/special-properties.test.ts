import { expect, it } from "vitest";
import type { Properties } from "../../../../src/contract/resources.ts";
import { InvalidError } from "../../../../src/service/domain/errors.ts";
import { checkSpecialProperties } from "../../../../src/service/domain/surveys/special-properties.ts";

const problemsOf = (properties: Properties): unknown => {
  try {
    checkSpecialProperties(properties);
    return {};
  } catch (error) {
    return error instanceof InvalidError ? error.errors : error;
  }
};

const NO_SCHEME = { thank_you_link_url: ["must be a URL with a scheme, such as https://example.com"] };

it.each([
  ["example.com/thanks", NO_SCHEME],
  ["www.example.com", NO_SCHEME],
  ["//example.com", NO_SCHEME],
  ["/thanks", NO_SCHEME],
  ["example.com:8080/thanks", NO_SCHEME],
  ["https://example.com/thanks", {}],
  [" https://example.com", {}],
  ["HTTP://example.com", {}],
  ["mailto:ada@example.com", {}],
  ["tel:5551234", {}],
  ["com.example.app://thanks", {}],
  ["javascript:alert(1)", {}],
  ["", {}],
  [null, {}],
])("the thank-you link %j gives %j", (url, problems) => {
  expect(problemsOf({ thank_you_link_url: url })).toEqual(problems);
});

it("a special property that is an object or a boolean is refused by its name", () => {
  const properties = {
    question_product_name: { name: "Acme" },
    delighted_email_subject: true,
    service_intro_message: ["Hi"],
    thank_you_message: false,
    thank_you_link_text: 10,
    thank_you_link_url: {},
    locale: { de: true },
    tags: ["own", { properties: true }],
  };
  const text = ["must be text"];
  expect(problemsOf(properties)).toEqual({
    question_product_name: text,
    delighted_email_subject: text,
    service_intro_message: text,
    thank_you_message: text,
    thank_you_link_url: text,
  });
});
