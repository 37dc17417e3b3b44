/** The texts of a language: one for each place in a mail, on a page or in a text message. */

/** `fillText` replaces `{sender}`, `{product}`, `{subject}`, `{score}` and `{max}`, the same as in English. */
export interface SurveyTexts {
  readonly question: string;
  readonly questionAbout: string;
  /** Of the e-mail; at most 60 characters, which is what lists of mail show. */
  readonly subject: string;
  readonly reminderSubject: string;
  readonly reminder: string;
  readonly notLikely: string;
  readonly veryLikely: string;
  readonly scoreOfTen: string;
  readonly choose: string;
  readonly answerOnPage: string;
  /** Link and title. Names the surveys, so that nobody takes it for the end of a contract. */
  readonly unsubscribe: string;
  readonly whyYouGetThis: string;

  readonly youChose: string;
  readonly commentLabel: string;
  readonly commentHint: string;
  readonly send: string;
  readonly change: string;
  readonly moreQuestions: string;
  readonly noAnswer: string;
  readonly thanks: string;
  readonly thanksDetail: string;
  readonly youAnswered: string;
  readonly recordedAddComment: string;
  readonly errorTitle: string;
  readonly errorChooseScore: string;
  readonly errorCommentTooLong: string;
  readonly errorAnswer: string;
  readonly errorAnswerTooLong: string;
  readonly errorTooMany: string;
  readonly linkUnknown: string;
  readonly linkUnknownDetail: string;
  readonly linkExpired: string;
  readonly linkExpiredDetail: string;

  readonly unsubscribeAsk: string;
  readonly unsubscribeButton: string;
  readonly unsubscribed: string;
  /** On the button that takes it back. */
  readonly undo: string;
  readonly resubscribed: string;

  readonly smsAskComment: string;
  readonly smsThanks: string;
  readonly smsAskAgain: string;
  /** `STOP` and `START` are understood in every language. */
  readonly smsStopped: string;
  /** The last line of a survey by text. In a language whose other texts are GSM-7, this one is too. */
  readonly smsOptOut: string;
}
