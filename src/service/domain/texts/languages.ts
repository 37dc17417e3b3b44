import type { Locale } from "../../../contract/locales.ts";
import ar from "./languages/ar.json" with { type: "json" };
import bg from "./languages/bg.json" with { type: "json" };
import cs from "./languages/cs.json" with { type: "json" };
import da from "./languages/da.json" with { type: "json" };
import de from "./languages/de.json" with { type: "json" };
import el from "./languages/el.json" with { type: "json" };
import en from "./languages/en.json" with { type: "json" };
import es from "./languages/es.json" with { type: "json" };
import et from "./languages/et.json" with { type: "json" };
import fi from "./languages/fi.json" with { type: "json" };
import fr from "./languages/fr.json" with { type: "json" };
import he from "./languages/he.json" with { type: "json" };
import hr from "./languages/hr.json" with { type: "json" };
import hu from "./languages/hu.json" with { type: "json" };
import id from "./languages/id.json" with { type: "json" };
import it from "./languages/it.json" with { type: "json" };
import ja from "./languages/ja.json" with { type: "json" };
import ka from "./languages/ka.json" with { type: "json" };
import ko from "./languages/ko.json" with { type: "json" };
import lt from "./languages/lt.json" with { type: "json" };
import lv from "./languages/lv.json" with { type: "json" };
import ms from "./languages/ms.json" with { type: "json" };
import nb from "./languages/nb.json" with { type: "json" };
import nl from "./languages/nl.json" with { type: "json" };
import pl from "./languages/pl.json" with { type: "json" };
import pt from "./languages/pt.json" with { type: "json" };
import ptBR from "./languages/pt-BR.json" with { type: "json" };
import ro from "./languages/ro.json" with { type: "json" };
import ru from "./languages/ru.json" with { type: "json" };
import sr from "./languages/sr.json" with { type: "json" };
import sv from "./languages/sv.json" with { type: "json" };
import th from "./languages/th.json" with { type: "json" };
import tr from "./languages/tr.json" with { type: "json" };
import vi from "./languages/vi.json" with { type: "json" };
import zhCN from "./languages/zh-CN.json" with { type: "json" };
import zhHK from "./languages/zh-HK.json" with { type: "json" };
import zhTW from "./languages/zh-TW.json" with { type: "json" };

/** `fillText` replaces placeholders such as `{sender}`; docs/locales.md has the rules for translators. */
export type SurveyTexts = Readonly<typeof en>;

export const LANGUAGES: Readonly<Record<Locale, SurveyTexts>> = {
  ar,
  bg,
  cs,
  da,
  de,
  el,
  en,
  es,
  et,
  fi,
  fr,
  he,
  hr,
  hu,
  id,
  it,
  ja,
  ka,
  ko,
  lt,
  lv,
  ms,
  nb,
  nl,
  pl,
  pt,
  "pt-BR": ptBR,
  ro,
  ru,
  sr,
  sv,
  th,
  tr,
  vi,
  "zh-CN": zhCN,
  "zh-HK": zhHK,
  "zh-TW": zhTW,
};
