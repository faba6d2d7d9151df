import StrataSystem

/// The files of a run that is being written.
final class RunDraft {
    private let home: RunHome
    private let takeNumber: () -> UInt64
    private var created: [(number: UInt64, use: RunHome.Use)] = []

    init(_ home: RunHome, takeNumber: @escaping () -> UInt64) {
        self.home = home
        self.takeNumber = takeNumber
    }

    func create(_ use: RunHome.Use) throws -> (file: any File, number: UInt64) {
        let number = takeNumber()
        created.append((number, use))
        return (try home.create(number, use), number)
    }

    func remove() {
        for (number, use) in created { home.remove(number, use) }
    }
}
