// Customers for the import benchmarks, as lines of a file and as request bodies.
import { closeSync, openSync, writeSync } from "node:fs";

const PLANS = ["free", "starter", "pro", "enterprise"];
const REGIONS = ["EMEA", "AMER", "APAC"];
const LINES_AT_ONCE = 5000;

const emailOf = (index) => `person.${index}@customers.example.com`;
const phoneOf = (index) => (index % 4 === 0 ? `+1415${5_000_000 + (index % 5_000_000)}` : "");
const nameOf = (index) => `Person Number ${index}`;
const planOf = (index) => PLANS[index % PLANS.length];
const regionOf = (index) => REGIONS[index % REGIONS.length];
const signupOf = (index) => `202${index % 7}-0${1 + (index % 9)}-1${index % 10}`;

const lineOf = (index) =>
  `${emailOf(index)},${phoneOf(index)},${nameOf(index)},en,${planOf(index)},${regionOf(index)},${100_000 + index},${signupOf(index)}\n`;

/** What `people import --no-send` posts for a row. */
export const bodyOf = (index) =>
  JSON.stringify({
    email: emailOf(index),
    ...(phoneOf(index) !== "" && { phone_number: phoneOf(index) }),
    name: nameOf(index),
    properties: {
      locale: "en",
      plan: planOf(index),
      region: regionOf(index),
      customer_id: String(100_000 + index),
      signup_date: signupOf(index),
    },
    send: false,
  });

/** Writes a file of distinct customers. */
export function writeCustomers(file, rows) {
  const out = openSync(file, "w");
  writeSync(out, "email,phone_number,name,locale,plan,region,customer_id,signup_date\n");
  for (let first = 0; first < rows; first += LINES_AT_ONCE) {
    const count = Math.min(LINES_AT_ONCE, rows - first);
    writeSync(out, Array.from({ length: count }, (_, offset) => lineOf(first + offset)).join(""));
  }
  closeSync(out);
}
