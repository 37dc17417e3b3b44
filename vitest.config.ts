import { defineConfig } from "vitest/config";

const isLong = process.env["SURVEYCTL_TEST_LONG"] === "1";

export default defineConfig({
  test: {
    include: ["test/**/*.test.{ts,js}"],
    globalSetup: "test/build-first.ts",
    // Programs that tests start are given a time zone; code that runs inside the tests has this one.
    env: { TZ: "UTC" },
    // Most tests wait for programs and timers, so more workers than processors keep the processors busy.
    maxWorkers: 4,
    // A worker loads each module once for all its files.
    isolate: false,
    // Room for twice as many young objects saves a tenth of a worker's processor time.
    execArgv: ["--max-semi-space-size=32"],
    testTimeout: isLong ? 3_600_000 : 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    retry: 0,
  },
});
