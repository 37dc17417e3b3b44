import { tellStories } from "../../helpers/stories.ts";

tellStories(import.meta.dirname);
