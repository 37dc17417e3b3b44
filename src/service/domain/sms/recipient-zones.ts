import { createWallClock, DAY_SECONDS, DEFAULT_ZONE, regionZones } from "../../../runtime/zone.ts";

/** Calling codes (ITU-T E.164) by country. `1` stands for countries without a longer code. */
const TABLE =
  "1US 1CA 1242BS 1246BB 1264AI 1268AG 1284VG 1340VI 1345KY 1441BM 1473GD 1649TC 1658JM 1664MS 1670MP 1671GU 1684AS 1721SX 1758LC 1767DM 1784VC 1787PR 1809DO 1829DO 1849DO 1868TT 1869KN 1876JM 1939PR " +
  "7RU 76KZ 77KZ 20EG 211SS 212MA 213DZ 216TN 218LY 220GM 221SN 222MR 223ML 224GN 225CI 226BF 227NE 228TG 229BJ 230MU 231LR 232SL 233GH 234NG 235TD 236CF 237CM 238CV 239ST 240GQ 241GA 242CG 243CD 244AO " +
  "245GW 246IO 248SC 249SD 250RW 251ET 252SO 253DJ 254KE 255TZ 256UG 257BI 258MZ 260ZM 261MG 262RE 263ZW 264NA 265MW 266LS 267BW 268SZ 269KM 27ZA 290SH 291ER 297AW 298FO 299GL 30GR 31NL 32BE 33FR 34ES " +
  "350GI 351PT 352LU 353IE 354IS 355AL 356MT 357CY 358FI 359BG 36HU 370LT 371LV 372EE 373MD 374AM 375BY 376AD 377MC 378SM 379VA 380UA 381RS 382ME 383RS 385HR 386SI 387BA 389MK 39IT 40RO 41CH 420CZ 421SK " +
  "423LI 43AT 44GB 45DK 46SE 47NO 48PL 49DE 500FK 501BZ 502GT 503SV 504HN 505NI 506CR 507PA 508PM 509HT 51PE 52MX 53CU 54AR 55BR 56CL 57CO 58VE 590GP 591BO 592GY 593EC 594GF 595PY 596MQ 597SR 598UY 599CW " +
  "60MY 61AU 62ID 63PH 64NZ 65SG 66TH 670TL 672NF 673BN 674NR 675PG 676TO 677SB 678VU 679FJ 680PW 681WF 682CK 683NU 685WS 686KI 687NC 688TV 689PF 690TK 691FM 692MH 81JP 82KR 84VN 850KP 852HK 853MO 855KH " +
  "856LA 86CN 880BD 886TW 90TR 91IN 92PK 93AF 94LK 95MM 960MV 961LB 962JO 963SY 964IQ 965KW 966SA 967YE 968OM 970PS 971AE 972IL 973BH 974QA 975BT 976MN 977NP 98IR 992TJ 993TM 994AZ 995GE 996KG 998UZ";

const COUNTRIES = TABLE.split(" ").map((row) => ({ code: row.slice(0, -2), region: row.slice(-2) }));

export function callingCode(phoneNumber: string): string {
  const codes = COUNTRIES.map(({ code }) => code).filter((code) => phoneNumber.startsWith(`+${code}`));
  return codes.reduce((longest, code) => (code.length > longest.length ? code : longest), "");
}

/**
 * All time zones of the phone number's country, or only the project's if it is one of them or the country is unknown.
 */
export function recipientZones(phoneNumber: string, projectZone: string | null, now: number): readonly string[] {
  const own = projectZone ?? DEFAULT_ZONE;
  const code = callingCode(phoneNumber);
  const zones = COUNTRIES.flatMap((one) => (one.code === code ? regionZones(one.region) : []));
  const isSame = (zone: string): boolean =>
    [now, now + 182 * DAY_SECONDS].every((at) => createWallClock(zone)(at) === createWallClock(own)(at));
  return zones.length === 0 || (projectZone !== null && zones.some(isSame)) ? [own] : zones;
}
