/** Words that mean something else together than each alone: what is said, and the words to look for in its place. */
const lines = `
get rid of = delete remove
throw away = delete remove
throw out = delete remove
clean up = prune delete
clear out = delete prune
take back = delete revoke
take away = remove revoke
take down = delete unpublish
take off = remove
take out = remove
cross off = remove complete
kick out = remove
let go = remove
bring back = restore
put back = restore
get back = restore
go back to = restore revert
roll back = revert restore
undo = revert remove restore
call off = cancel
shut down = stop archive disable
close down = archive close
turn off = disable stop
switch off = disable stop
turn on = enable start
switch on = enable start
start over = restart
log in = login authenticate
sign in = login authenticate
log on = login authenticate
log out = logout
sign out = logout session
sign up = register create user
set up = create configure
spin up = create start
kick off = start trigger
carry on = resume continue
look up = get search
look for = search
look at = get read
find out = get
hand over = transfer
hand out = assign share
pass on = forward transfer
put in charge = assign
in charge = assign owner
put off = snooze reschedule
push back = reschedule update
fill in = set update
make a copy = copy
make public = publish
go live = publish deploy
keep up with = watch subscribe
keep track of = watch list
keep an eye on = watch
up to date = sync update upstream
not bother = snooze disturb dnd
do not disturb = dnd snooze
leave me alone = dnd snooze
who am i = current user authenticated identity me
logged in as = current user authenticated me
who can see = access collaborator permission
who has access = access collaborator permission
who wrote = contributor author
write access = collaborator permission
give access = add collaborator permission
read access = collaborator permission
how many = count number
how much = usage price cost
how long = time estimate duration
how often = count frequency
right now = current latest active
at the moment = current latest active
these days = recent
at once = immediate
for good = permanent
for ever = permanent
no longer = remove disable
no more = lock disable stop
any more = inactive archive
merge request = pull request
merge requests = pull request
to do = task
recycle bin = trash
chat room = channel conversation
private chat = direct message
direct message = im conversation direct
profile picture = avatar photo
user picture = avatar photo
profile photo = avatar photo
phone number = phone
pay later = loan credit installment
pick up = pickup time
side by side = compare diff
step by step = instruction
black list = block
white list = allow
bug report = issue
feature request = issue
pass word = password secret
access key = token secret key
api key = token secret key
home page = root
command line = exec command
docker hub = registry
free time = schedule availability
free slot = schedule availability
out of office = presence away automatic
day off = absence leave
`;

export interface Phrase {
  said: readonly string[];
  meant: readonly string[];
}

/** The longest first, by the word they begin with. */
export const phrases: ReadonlyMap<string, readonly Phrase[]> = Map.groupBy(
  lines
    .trim()
    .split('\n')
    .map((line): Phrase => {
      const [said = [], meant = []] = line.split(' = ').map((part) => part.split(' '));
      return { said, meant };
    })
    .toSorted((a, b) => b.said.length - a.said.length),
  ({ said }) => said[0] ?? '',
);
