/** The texts of a language: one for each place in a mail, on a page or in a text message. */

/**
 * `fillText` replaces `{sender}`, `{product}`, `{subject}`, `{score}` and `{max}`; each text has those that English
 * has.
 */
export interface SurveyTexts {
  /** The question about a product without a name. */
  readonly question: string;
  readonly questionAbout: string;
  /** Of the e-mail; at most 60 characters, which is what lists of mail show. */
  readonly subject: string;
  /** `{subject}` is that of the survey. */
  readonly reminderSubject: string;
  /** The sentence above the question of a reminder. */
  readonly reminder: string;
  readonly notLikely: string;
  readonly veryLikely: string;
  /** The words of a screen reader for a score. */
  readonly scoreOfTen: string;
  /** Above the links of the text part. */
  readonly choose: string;
  readonly answerOnPage: string;
  /** Says from what: a customer must not take it for the end of a contract, nor for an order that is cancelled. */
  readonly unsubscribe: string;
  readonly whyYouGetThis: string;

  readonly youChose: string;
  readonly commentLabel: string;
  readonly commentHint: string;
  readonly send: string;
  readonly change: string;
  /** Above the questions that follow the score. */
  readonly moreQuestions: string;
  /** The choice of those who leave such a question out. */
  readonly noAnswer: string;
  readonly thanks: string;
  readonly thanksDetail: string;
  readonly youAnswered: string;
  /** Told while the comment can still be written. */
  readonly recordedAddComment: string;
  /** In front of the title of a page with a mistake. */
  readonly errorTitle: string;
  readonly errorChooseScore: string;
  readonly errorCommentTooLong: string;
  /** An answer to one of the further questions is none that it has. */
  readonly errorAnswer: string;
  readonly errorAnswerTooLong: string;
  /** Of a public link whose answers come too fast from one network. */
  readonly errorTooMany: string;
  readonly linkUnknown: string;
  readonly linkUnknownDetail: string;
  readonly linkExpired: string;
  readonly linkExpiredDetail: string;

  readonly unsubscribeTitle: string;
  readonly unsubscribeAsk: string;
  readonly unsubscribeButton: string;
  readonly unsubscribed: string;
  /** On the button that takes it back. */
  readonly undo: string;
  readonly resubscribed: string;

  readonly smsAskComment: string;
  readonly smsThanks: string;
  readonly smsAskAgain: string;
  /** `STOP` and `START` are what the service understands in every language. */
  readonly smsHelp: string;
  readonly smsStopped: string;
}
