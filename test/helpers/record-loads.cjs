// Preloaded to append each loaded module and each created Intl formatter to the file RECORD_LOADS.
const { appendFileSync } = require("node:fs");
const module_ = require("node:module");

const file = process.env.RECORD_LOADS;

if (module_.registerHooks === undefined) {
  const load = `async function load(url, context, next) {
    appendFileSync(${JSON.stringify(file)}, url + "\\n");
    return next(url, context);
  }`;
  module_.register(
    `data:text/javascript,${encodeURIComponent(`import { appendFileSync } from "node:fs"; export ${load}`)}`,
  );
} else {
  module_.registerHooks({
    load(url, context, next) {
      appendFileSync(file, `${url}\n`);
      return next(url, context);
    },
  });
}

for (const name of ["DateTimeFormat", "ListFormat", "NumberFormat", "PluralRules", "Segmenter"]) {
  Intl[name] = new Proxy(Intl[name], {
    construct(...call) {
      appendFileSync(file, `intl:${name}\n`);
      return Reflect.construct(...call);
    },
  });
}

// Node's list covers builtins that were loaded in any other way.
process.on("exit", () => {
  const builtins = process.moduleLoadList.filter((name) => /^NativeModule (?!internal)/.test(name));
  appendFileSync(file, builtins.map((name) => `${name.replace("NativeModule ", "builtin:")}\n`).join(""));
});
