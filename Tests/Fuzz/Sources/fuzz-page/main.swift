import FuzzBodies
import FuzzDriver

fuzz { FuzzBodies.page($0) }
