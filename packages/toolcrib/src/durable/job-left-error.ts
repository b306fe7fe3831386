/** This server does not go on with a job: it is stopping, or another one has taken the job over. Not a failure of the job. */
export class JobLeftError extends Error {
  override name = 'JobLeftError';

  constructor() {
    super('The job is left to a later start or another server');
  }
}
