import StrataModel
import StrataReplay
import StrataRules
import StrataStore
import StrataTree
import StrataViews

/// Gathers the newest token that each device was given for each zone, and finds those that are refused or far behind.
///
/// The log has fetches only if the store records them.
struct DeviceScan {
    /// The age of a device's last fetch from which it counts as behind.
    static let behindDays: Int64 = 7

    private struct Place: Hashable {
        let author: ScannedCommit.Author
        let database: DatabaseID
        let zone: ZoneID?
    }

    private var newest: [Place: (commit: ScannedCommit, token: [UInt8])] = [:]

    mutating func add(_ event: FetchedEvent, _ commit: ScannedCommit, _ names: KnownNames) {
        guard event.question == .zoneChanges || event.question == .databaseChanges, let token = event.returnedToken,
            commit.author.device != 0
        else { return }
        let database = event.database.named(for: names.user(commit.author.user) ?? "")
        newest[Place(author: commit.author, database: database, zone: event.zone)] = (commit, token)
    }

    /// - Parameter now: the time of the last commit.
    func findings(in store: Store, at now: Int64, _ names: KnownNames) throws -> [Finding] {
        let oldest = now - Self.behindDays * Timestamp.microsecondsPerDay
        let end = store.offset
        var findings: [Finding] = []
        for (place, (commit, bytes)) in newest.sorted(by: { $0.value.commit.offset < $1.value.commit.offset }) {
            guard let token = try? FeedToken(unverified: bytes) else { continue }
            func finding(_ kind: Finding.Kind, _ text: String, count: UInt64 = 1) -> Finding {
                let zone = place.zone.map { "zone \(Printable.escaped($0.name))" } ?? "the changed zones"
                var finding = Finding(
                    kind, commit,
                    "\(names.text(of: place.author)): its token for \(zone) of "
                        + "\(place.database.shownText), of \(Timestamp(microseconds: commit.time)), \(text)",
                    count: count,
                    next: ["device", "--", names.user(place.author.user) ?? ""]
                        + [names.device(place.author.device) ?? ""],
                    names)
                (finding.zone, finding.database) = (place.zone?.name, place.database)
                return finding
            }
            if let refusal = try store.standing(of: token).refusal {
                findings.append(finding(.deadToken, "is refused: \(Printable.escaped(refusal.message))"))
            } else if commit.time <= oldest, case .zone(let zone, _) = token.feed {
                let behind = try token.changesBehind(of: zone, through: end, in: store.log).changes
                if behind > 0 { findings.append(finding(.behind, "lacks \(behind.counted("change"))", count: behind)) }
            }
        }
        return findings
    }
}
