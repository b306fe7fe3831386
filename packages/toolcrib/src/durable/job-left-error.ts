/** This server does not continue a job: it is stopping, or another server has taken the job over. Not a failure of the job. */
export class JobLeftError extends Error {
  override name = 'JobLeftError';

  constructor() {
    super('The job is left to a later start or another server');
  }
}
