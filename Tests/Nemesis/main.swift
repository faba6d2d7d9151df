import Glibc

// Harms the servers that order a store, the processes that write it, and the connections between them, and checks what
// was acknowledged; tools/nemesis builds and starts it. The processes with the store are the same program.

// A process or a server that is gone must not end this one.
signal(SIGPIPE, SIG_IGN)
let words = Array(CommandLine.arguments.dropFirst())
if words.first == "work" { exit(StoreWorker.run(words.dropFirst())) }
guard let settings = NemesisSettings(words) else { exit(2) }
do { exit(try settings.run()) } catch {
    StoreWorker.complain("\(error)")
    exit(1)
}
