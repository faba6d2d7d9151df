import CloudKit
import Combine
import Foundation

/// Code as an app has it: nothing in this file knows of Linux.
@MainActor
public final class NotesModel: ObservableObject {
    @Published public private(set) var titles: [String] = []
    @Published public var status = String(localized: "never synced")
    private var observation: AnyCancellable?

    public init() {
        observation = $titles.sink { [weak self] titles in
            MainActor.assumeIsolated { self?.status = String(localized: "\(titles.count) notes") }
        }
    }

    public func add(_ title: String) async throws {
        try await Task.sleep(nanoseconds: NSEC_PER_SEC / 1_000)
        titles.append(title)
        UserDefaults.standard.setValue(titles.count, forKey: "count of notes")
    }

    public nonisolated func waitForAccount() async {
        for await _ in NotificationCenter.default.notifications(named: .CKAccountChanged) { return }
    }

    public nonisolated static func decode(_ data: Data) throws -> [NSString] {
        try NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClass: NSString.self, from: data) ?? []
    }

    public nonisolated static func write(_ data: Data, to url: URL) throws {
        try data.write(to: url, options: .atomicWrite)
    }
}
