import Foundation
import Glibc
import TestSupport

/// What happens to a directory under a living store, and other processes beside it.
struct PlacesCampaign: Campaign {
    let name = "places"
    let weight = 2.0

    func run(_ round: Round) throws {
        round.tally.add(to: "scenarios")
        switch round.number % 6 {
        case 0: try moved(round)
        case 1: try removed(round)
        case 2: try unlocked(round)
        case 3: try alone("reopened", round)
        case 4: try alone("truncated", round)
        default: try beside(round)
        }
    }

    private func settings(_ name: String, _ round: Round) throws -> ChildSettings {
        var settings = ChildSettings()
        settings.folder = "\(round.folder)/\(name)"
        settings.store = "\(round.folder)/Store.strata"
        settings.acknowledgements = "\(round.folder)/acknowledged-\(name)"
        settings.seed = round.seed
        settings.toleratesErrors = true
        try FileManager.default.createDirectory(atPath: settings.folder, withIntermediateDirectories: true)
        return settings
    }

    /// Starts a writer; returns it once its store is open, and nil if that was refused.
    private func writer(_ settings: ChildSettings, _ round: Round) throws -> ChildProcess? {
        let child = try round.start(["write"] + settings.words)
        while true {
            switch child.nextLine(withinSeconds: 30) {
            case .line("opened"): return child
            case .line: continue
            case .silence:
                child.kill()
                round.fail(.hangs, "a writer's store was not open after 30 s")
                return nil
            case .end:
                end(child.wait(), round)
                return nil
            }
        }
    }

    private func end(_ status: Int32, _ round: Round) {
        if status != 0, status & 0x7F != SIGKILL { round.fail(.traps, "a writer: \(Round.text(ofStatus: status))") }
    }

    private func kill(_ child: ChildProcess, _ round: Round) {
        round.tally.add(to: "kills")
        end(child.kill(), round)
    }

    private func check(_ settings: ChildSettings, _ round: Round) throws {
        guard !Acknowledgements.read(settings.acknowledgements).isEmpty else { return }
        _ = round.follow(try round.start(["check"] + settings.words), patienceSeconds: 120)
    }

    private func pause(_ round: Round) { usleep(useconds_t(300_000 + round.seed % 900_000)) }

    /// A store is moved away under its writer, and another one is made in its place.
    private func moved(_ round: Round) throws {
        var (first, second) = (try settings("first", round), try settings("second", round))
        second.seed = round.seed ^ 2
        guard let writer = try writer(first, round) else { return }
        pause(round)
        let away = "\(round.folder)/Moved.strata"
        rename(first.store, away)
        let other = try self.writer(second, round)
        pause(round)
        kill(writer, round)
        first.store = away
        try check(first, round)
        guard let other else { return }
        kill(other, round)
        try check(second, round)
    }

    /// A store is removed under its writer, and another one is made in its place.
    private func removed(_ round: Round) throws {
        let first = try settings("first", round)
        var second = try settings("second", round)
        second.seed = round.seed ^ 2
        guard let writer = try writer(first, round) else { return }
        pause(round)
        try? FileManager.default.removeItem(atPath: first.store)
        let other = try self.writer(second, round)
        pause(round)
        kill(writer, round)
        guard let other else { return }
        kill(other, round)
        try check(second, round)
    }

    /// The lock's file is removed under a writer, and another process opens the store.
    private func unlocked(_ round: Round) throws {
        let (first, second) = (try settings("first", round), try settings("second", round))
        guard let writer = try writer(first, round) else { return }
        pause(round)
        unlink("\(first.store)/LOCK")
        if let other = try self.writer(second, round) {
            round.fail(.wrong, "two processes write one store, whose LOCK was removed")
            other.kill()
        }
        kill(writer, round)
        if !round.hasFailed { try check(first, round) }
    }

    private func alone(_ scenario: String, _ round: Round) throws {
        let child = try round.start(["scenario", scenario, round.folder])
        _ = round.follow(child, patienceSeconds: 60)
    }

    /// Commands of the tool beside a writer that compacts again and again.
    private func beside(_ round: Round) throws {
        let settings = try settings("first", round)
        guard let writer = try writer(settings, round) else { return }
        pause(round)
        let reader = try round.start(["scenario", "reader", round.folder])
        _ = round.follow(reader, patienceSeconds: 60)
        kill(writer, round)
        try check(settings, round)
    }
}
