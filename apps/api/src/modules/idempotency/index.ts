export { createAnswerKeeper, forgetOldAnswers } from './service.ts'
