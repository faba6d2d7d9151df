import Foundation
import Glibc

// Harms stores in every way that is known, and counts what came of it; tools/torture builds and starts it. Its children
// are the same program, with the word for what they do in the first place.

let words = Array(CommandLine.arguments.dropFirst())
let rest = words.dropFirst()
do {
    switch words.first {
    case "write": try await WritingRun(settings: ChildSettings(rest)).run()
    case "check":
        do { try StoreCheck(ChildSettings(rest)).run() } catch {
            Telling.lost("the store cannot be read: \(error)")
            Telling.say("done")
        }
    case "mutations": try await MutationBatch(rest).run()
    case "hostile": try await HostileBatch(rest).run()
    case "forgeries": try await ForgeryBatch(rest).run()
    case "visibility": try await VisibilityBatch(rest).run()
    case "scenario": try ScenarioChild(rest).run()
    default:
        guard let settings = CoordinatorSettings(words) else { exit(2) }
        exit(try Coordinator(settings).run())
    }
} catch {
    Telling.complain("\(error)")
    exit(1)
}
