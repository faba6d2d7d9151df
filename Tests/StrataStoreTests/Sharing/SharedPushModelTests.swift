import StrataModel
import TestSupport
import Testing

@testable import StrataStore

/// Members who only listen, while records, shares and memberships change: B365.
@Suite("Pushes of the shared database over random histories", .timeLimit(.minutes(5)))
struct SharedPushModelTests {
    @Test(
        "Each member is notified of what comes, changes or goes in their sight, and of nothing else",
        arguments: seeds(6))
    func histories(_ seed: UInt64) async throws {
        var play = try SharedPlay(seed: seed)
        let users = play.devices.keys.sorted()
        for user in users {
            try play.world.subscribe(user)
            _ = try await play.world.missed(user)
        }
        var (told, untold) = (0, 0)
        for step in 0..<60 {
            let before = users.map { play.world.visible(to: $0) }
            try play.write()
            for (user, old) in zip(users, before) {
                let isConcerned = play.world.visible(to: user) != old && play.world.writer != user
                let isTold = try await !play.world.missed(user).isEmpty
                #expect(isTold == isConcerned, "seed \(seed), step \(step), \(user)")
                if isTold { told += 1 } else { untold += 1 }
            }
        }
        #expect(told > 5 && untold > 5, "a history in which something happens")
    }
}
