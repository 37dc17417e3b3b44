/** The words of a survey message by language. A language without a row here is written in English. */
import { FALLBACK_LOCALE, type Locale } from "../../contract/locales.ts";

export interface SurveyTexts {
  /** The question about a product that has a name; `{product}` is replaced by it. */
  readonly questionAbout: string;
  /** The question about a product without a name. */
  readonly question: string;
  readonly subject: string;
  readonly notLikely: string;
  readonly veryLikely: string;
  /** Above the links of the text part. */
  readonly choose: string;
  readonly unsubscribe: string;
}

const ENGLISH: SurveyTexts = {
  questionAbout: "How likely are you to recommend {product} to a friend?",
  question: "How likely are you to recommend us to a friend?",
  subject: "How are we doing?",
  notLikely: "Not at all likely",
  veryLikely: "Extremely likely",
  choose: "Choose a number from 0 to 10:",
  unsubscribe: "Unsubscribe",
};

const TEXTS: Partial<Record<Locale, SurveyTexts>> = {
  en: ENGLISH,
  da: {
    questionAbout: "Hvor sandsynligt er det, at du vil anbefale {product} til en ven?",
    question: "Hvor sandsynligt er det, at du vil anbefale os til en ven?",
    subject: "Hvordan klarer vi os?",
    notLikely: "Slet ikke sandsynligt",
    veryLikely: "Meget sandsynligt",
    choose: "Vælg et tal fra 0 til 10:",
    unsubscribe: "Afmeld",
  },
  de: {
    questionAbout: "Wie wahrscheinlich ist es, dass Sie {product} weiterempfehlen?",
    question: "Wie wahrscheinlich ist es, dass Sie uns weiterempfehlen?",
    subject: "Wie zufrieden sind Sie mit uns?",
    notLikely: "Sehr unwahrscheinlich",
    veryLikely: "Sehr wahrscheinlich",
    choose: "Wählen Sie eine Zahl von 0 bis 10:",
    unsubscribe: "Abmelden",
  },
  es: {
    questionAbout: "¿Qué probabilidad hay de que recomiende {product} a un amigo?",
    question: "¿Qué probabilidad hay de que nos recomiende a un amigo?",
    subject: "¿Qué le parece nuestro servicio?",
    notLikely: "Nada probable",
    veryLikely: "Muy probable",
    choose: "Elija un número del 0 al 10:",
    unsubscribe: "Cancelar la suscripción",
  },
  fr: {
    questionAbout: "Quelle est la probabilité que vous recommandiez {product} à un proche ?",
    question: "Quelle est la probabilité que vous nous recommandiez à un proche ?",
    subject: "Que pensez-vous de nous ?",
    notLikely: "Pas du tout probable",
    veryLikely: "Très probable",
    choose: "Choisissez un nombre de 0 à 10 :",
    unsubscribe: "Se désabonner",
  },
  it: {
    questionAbout: "Con quale probabilità consiglierebbe {product} a un amico?",
    question: "Con quale probabilità ci consiglierebbe a un amico?",
    subject: "Cosa pensa di noi?",
    notLikely: "Per niente probabile",
    veryLikely: "Molto probabile",
    choose: "Scelga un numero da 0 a 10:",
    unsubscribe: "Annulla l'iscrizione",
  },
  nb: {
    questionAbout: "Hvor sannsynlig er det at du vil anbefale {product} til en venn?",
    question: "Hvor sannsynlig er det at du vil anbefale oss til en venn?",
    subject: "Hva synes du om oss?",
    notLikely: "Ikke sannsynlig i det hele tatt",
    veryLikely: "Svært sannsynlig",
    choose: "Velg et tall fra 0 til 10:",
    unsubscribe: "Meld deg av",
  },
  nl: {
    questionAbout: "Hoe waarschijnlijk is het dat u {product} aan een vriend zou aanbevelen?",
    question: "Hoe waarschijnlijk is het dat u ons aan een vriend zou aanbevelen?",
    subject: "Hoe doen wij het?",
    notLikely: "Helemaal niet waarschijnlijk",
    veryLikely: "Zeer waarschijnlijk",
    choose: "Kies een getal van 0 tot 10:",
    unsubscribe: "Afmelden",
  },
  pt: {
    questionAbout: "Qual é a probabilidade de recomendar {product} a um amigo?",
    question: "Qual é a probabilidade de nos recomendar a um amigo?",
    subject: "O que pensa de nós?",
    notLikely: "Nada provável",
    veryLikely: "Muito provável",
    choose: "Escolha um número de 0 a 10:",
    unsubscribe: "Cancelar a subscrição",
  },
  "pt-BR": {
    questionAbout: "Qual é a probabilidade de você recomendar {product} a um amigo?",
    question: "Qual é a probabilidade de você nos recomendar a um amigo?",
    subject: "O que você acha de nós?",
    notLikely: "Nada provável",
    veryLikely: "Muito provável",
    choose: "Escolha um número de 0 a 10:",
    unsubscribe: "Cancelar inscrição",
  },
  sv: {
    questionAbout: "Hur sannolikt är det att du skulle rekommendera {product} till en vän?",
    question: "Hur sannolikt är det att du skulle rekommendera oss till en vän?",
    subject: "Vad tycker du om oss?",
    notLikely: "Inte alls sannolikt",
    veryLikely: "Mycket sannolikt",
    choose: "Välj en siffra från 0 till 10:",
    unsubscribe: "Avregistrera dig",
  },
};

/** The words, and the language that they really are in. */
export function surveyTexts(locale: Locale): { readonly texts: SurveyTexts; readonly language: Locale } {
  const texts = TEXTS[locale];
  return texts === undefined ? { texts: ENGLISH, language: FALLBACK_LOCALE } : { texts, language: locale };
}
