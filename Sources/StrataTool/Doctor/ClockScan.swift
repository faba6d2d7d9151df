import StrataModel
import StrataSystem

/// Finds commits that share one time, leaps of the clock, and commits from the future.
struct ClockScan {
    /// The number of consecutive commits with one time that make a finding.
    static let suspiciousRun: UInt64 = 20
    /// The leap between two commits after which the clock of the store stood still.
    private static let leapDays: Int64 = 30
    private static let toleranceMicroseconds: Int64 = 5 * 60 * 1_000_000

    private let now: Int64
    private var run: (first: ScannedCommit, last: UInt64, count: UInt64)?
    /// The time before the run.
    private var before: Int64?
    private var future: (first: ScannedCommit, last: UInt64, count: UInt64)?
    /// The time of the last commit from the future.
    private var latest: Int64 = 0
    private(set) var findings = LastItems<Finding>(Finding.mostKept)

    /// - Parameter now: in microseconds since 1970.
    init(now: Int64 = SystemTime().nowMicroseconds()) { self.now = now }

    mutating func add(_ commit: ScannedCommit, _ names: KnownNames) {
        if commit.time > now + Self.toleranceMicroseconds {
            future = (future?.first ?? commit, commit.offset, (future?.count ?? 0) + 1)
            latest = commit.time
        }
        if let known = run, known.first.time == commit.time {
            run = (known.first, commit.offset, known.count + 1)
        } else {
            closeRun(names)
            before = run?.first.time
            run = (commit, commit.offset, 1)
        }
    }

    private mutating func closeRun(_ names: KnownNames) {
        guard let run, run.count >= Self.suspiciousRun else { return }
        var text = "\(run.count) consecutive commits have one time, \(Timestamp(microseconds: run.first.time))"
        if let before, run.first.time - before > Self.leapDays * Timestamp.microsecondsPerDay {
            text +=
                ", \((run.first.time - before) / Timestamp.microsecondsPerDay) days after the commit before them: "
                + "the clock leapt ahead, and was set back"
        }
        add(text, run, names)
    }

    private mutating func add(
        _ text: String, _ run: (first: ScannedCommit, last: UInt64, count: UInt64), _ names: KnownNames
    ) {
        var finding = Finding(
            .clock, run.first, text, count: run.count,
            next: ["log", "--from", "\(run.first.offset)", "--to", "\(run.last)", "--oneline"], names)
        if run.last != run.first.offset { finding.lastOffset = run.last }
        findings.append(finding)
    }

    mutating func finish(_ names: KnownNames) {
        closeRun(names)
        run = nil
        guard let future else { return }
        let verb = future.count == 1 ? "has" : "have"
        add(
            "\(future.count.counted("commit")) \(verb) a time in the future, up to "
                + StoreInfo.span(microseconds: latest - now) + " ahead of this machine's clock", future,
            names)
        self.future = nil
    }
}
