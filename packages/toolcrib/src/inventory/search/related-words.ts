import { wordLines } from './word-lines.ts';

/**
 * Words that people say and the words that tools are described with. Each line: the words of tools, a colon, what people say instead.
 * Whatever stands in a line is looked for under the words before its colon as well, for less than the word itself. In the singular and
 * without accents, as `wordsOf` gives them; a word may stand in several lines. General English of offices and software, and no tool's own.
 */
const lines = `
create add new: make build generate register compose raise establish insert write produce open start launch begin setup draft
delete remove: erase wipe discard destroy eliminate purge drop scrap clear trash prune unlink detach strip kick evict
update edit modify set: change alter adjust correct fix amend revise rewrite tweak configure replace reschedule move rename improve
get retrieve read: fetch show view see display look obtain inspect open give tell check load detail info information
list all: show view see enumerate browse which overview everything every fetch give what who index
search find query: look locate lookup seek discover where match filter
send post: write deliver submit publish notify tell say share forward message announce
upload: put send attach push import submit
download export content: fetch save pull extract
copy: duplicate clone replicate mirror
transfer move: relocate shift hand migrate reassign pass
rename: retitle relabel
start run execute trigger dispatch: launch boot begin kick invoke fire play
stop cancel kill: halt abort end terminate quit interrupt shut finish
restart rerun retry: reboot repeat again
pause suspend: freeze hold halt snooze
resume unpause: continue unfreeze
wait delay: sleep pause
enable activate: allow on unblock
disable deactivate: off stop
approve accept: confirm allow agree permit grant admit
allow permit whitelist: approve grant let authorize
reject decline deny: refuse dismiss disapprove
revoke: withdraw cancel invalidate remove expire
invite: ask request bring
assign: delegate responsible allocate give owner
archive: close shelve retire
restore recover: undelete undo revert rollback reinstate return
subscribe watch follow: monitor track
block ban: exclude forbid bar stop
merge: combine fuse unite integrate join
compare diff: difference different contrast changed change versus
count number total: many amount much sum
validate verify check test: confirm prove try
login authenticate: signin logon enter
logout: signout logoff leave
leave: exit quit depart
join: enter participate
schedule: plan later postpone arrange reschedule
install: setup deploy pull
inspect: examine look detail
forward: pass relay
mark: flag tick set
complete: finish done close
commit submit: save finalize
render convert: transform turn translate
permanent permanently: forever irrevocably destroy
issue: ticket bug problem defect incident complaint report
task: todo assignment job chore
repository repo: project codebase source
pull: merge mr pr
request: ask application demand
branch ref: fork
user member: people person account colleague employee staff teammate someone somebody everybody anybody profile worker human
team group: department squad crew division
organization org enterprise: company organisation business corporate firm employer
admin owner: manager boss administrator
file document: doc paper
folder directory: subfolder subdirectory path
subfolder: subdirectory child nested
comment: remark note feedback reply annotation say opinion review
message: chat text dm note post mail
channel conversation: room chat chatroom group discussion
thread reply: answer response discussion
event: meeting appointment calendar date session
calendar: agenda diary planner timetable
attendee participant: guest invitee member
reminder: alarm notification
version revision history: edition previous earlier older past change
permission access role: right privilege authorization collaborator
collaborator collaboration: partner access share contributor coworker
secret token key: credential password apikey login
webhook hook: callback notification notify endpoint subscription
log: output trace record print
alert: warning danger hazard notification advisory alarm risk emergency
forecast: weather prediction outlook tomorrow
weather: rain sun storm climate wind snow
observation: measurement reading temperature warm cold weather condition
image picture: photo screenshot png jpeg graphic
avatar photo: picture image portrait icon
label tag: keyword category mark
link url: address share website bookmark
policy rule: law regulation guideline
retention: keep retain preserve archive
billing invoice usage: spend cost money expense bill charge
price cost estimate: fare quote fee charge rate money expensive cheap
product item: goods article merchandise
order purchase: buy shop acquire
customer client: buyer consumer shopper
payment transaction: pay money transfer
loan credit: instalment installment debt borrow
coupon: discount voucher promotion offer deal
inventory stock: available availability
trip ride history: journey travel cab taxi driver
container: box vm instance process
volume: disk storage drive space
usage stat statistic: cpu memory consumption space traffic utilization metric performance
process: program task running
node cluster swarm: machine server host
service: server daemon application app
environment: stage system
variable: token setting value parameter constant
style: colour color font typography token
component: widget element part block
commit change: revision save history
release: version publication build
workflow pipeline run job action: ci build automation
deployment deploy: rollout publish ship
gist: snippet paste
code: source program function
language: programming
contributor author: wrote developer committer writer
view traffic: visitor visit viewed hit popular
vulnerability security advisory: hole weakness exploit leak breach flaw cve
dependency package: library module component
secret scanning: leak password
emoji: smiley emoticon
reaction: emoji like thumb
star: favourite favorite bookmark like
notification: inbox alert unread
read: seen viewed
presence status: online away available active
schedule availability free busy: colleague time slot
location place: room building where nearby site
room: space chamber hall
station: place site nearby sensor
email mail: mailbox address
attachment: file document annex
signature sign: contract agreement autograph
trash: bin rubbish recycle garbage wastebasket
session device: login logged
lock: freeze protect close
profile: account detail personal
license: licence copyright
time date: clock now today hour
uuid id: identifier random unique guid
hash: checksum digest fingerprint
unit convert: conversion mile kilometre kilometer celsius fahrenheit pound kilogram metre
calculator: calculate math arithmetic sum compute plus
table: reservation reserve seat book restaurant
board: game field
glossary: vocabulary term definition dictionary meaning
health ping: alive heartbeat healthy reachable
`;

/** What a tool that does this may be described with instead. */
export const relatedWords = wordLines(lines);
