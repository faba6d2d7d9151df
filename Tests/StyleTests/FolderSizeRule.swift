/// Folders of the product with too many files to find one by its name.
struct FolderSizeRule: StyleRule {
    static let maximumFiles = 25

    func findings(in files: [SourceFile]) -> [Finding] {
        let folders = Dictionary(grouping: files.filter { $0.isSwift && $0.module != nil }) { file in
            file.path.split(separator: "/").dropLast().joined(separator: "/")
        }
        return folders.filter { $0.value.count > Self.maximumFiles }.keys.sorted().map { folder in
            Finding(
                path: folder, line: 1,
                message: "\(folders[folder]?.count ?? 0) files, more than \(Self.maximumFiles); divide it by noun")
        }
    }
}
