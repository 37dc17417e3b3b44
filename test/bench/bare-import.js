// Baseline for imports: undici posting bodies that are cheap to make. Arguments: address, rows, concurrent requests.
import { Pool } from "undici";
import { bodyOf } from "./import-rows.js";
import { AUTHORIZATION } from "./programs.js";

const [, , origin, rows, atOnce] = process.argv;
const headers = { authorization: AUTHORIZATION, "content-type": "application/json" };
const pool = new Pool(origin, { connections: Number(atOnce) });
let next = 0;

async function worker() {
  while (next < Number(rows)) {
    const index = next;
    next += 1;
    const { statusCode, body } = await pool.request({
      path: "/v1/people.json",
      method: "POST",
      headers,
      body: bodyOf(index),
    });
    const { id } = JSON.parse(await body.text());
    if (statusCode !== 200 || id === undefined) throw new Error(`row ${index} ended with ${statusCode}`);
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, worker));
await pool.close();
