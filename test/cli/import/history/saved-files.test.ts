import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NOW } from "../../../helpers/fake-deps.ts";
import { openPastStore, type PastStore } from "../../../helpers/past-store.ts";

let store: PastStore;
let folder: string;

beforeEach(async () => {
  store = await openPastStore();
  folder = path.join(store.folder, "saved");
});
afterEach(async () => store.close());

const ada = '{"id":"1","email":"ada@example.com","created_at":1700000000}\n';
const left = `{"person_id":"1","email":"ada@example.com","unsubscribed_at":${NOW - 90}}\n`;

describe("files that are symbolic links", () => {
  test("when a folder is mounted as Kubernetes does it, then each file is read once, by the name beside it", async () => {
    await mkdir(path.join(folder, "..2026_11_24"), { recursive: true });
    await writeFile(path.join(folder, "..2026_11_24", "people.ndjson"), `${ada}{"id":"2","email":"no address"}\n`);
    await writeFile(path.join(store.folder, "left.ndjson"), left);
    await symlink("..2026_11_24", path.join(folder, "..data"));
    await symlink("..data/people.ndjson", path.join(folder, "people.ndjson"));
    await symlink("../left.ndjson", path.join(folder, "left.ndjson"));
    await symlink(".", path.join(folder, "again"));
    await symlink("nowhere", path.join(folder, "notes.txt"));
    const seen = await store.import({}, { paths: [folder, path.join(folder, "people.ndjson")] });
    expect([seen.exit, seen.err]).toEqual([
      3,
      `${path.join(folder, "people.ndjson")}:2: email "no address" contains a space\n`,
    ]);
    const { people } = await store.dump();
    expect(people?.map(({ id, unsubscribed_at: at }) => [id, at])).toEqual([[1, NOW - 90]]);
  });

  test("when one leads to no file, then it is named and nothing is written", async () => {
    await mkdir(folder);
    await writeFile(path.join(folder, "people.ndjson"), ada);
    await symlink("nowhere", path.join(folder, "left.ndjson"));
    const seen = await store.import({}, { paths: [folder] });
    const link = path.join(folder, "left.ndjson");
    expect([seen.exit, seen.error]).toEqual([null, `${link} is a symbolic link to a file that cannot be read`]);
    expect((await store.dump()).people).toEqual([]);
  });
});
