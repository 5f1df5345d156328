//! The loaded modules.

use std::sync::Arc;

use hook_run::{ErrorListener, HandlerHook, HostServices, ModuleErrors, ModuleFault, ModuleHandle};

use super::api::{HookModule, ModuleApi, ModuleError};
use super::command::{CommandInfo, RegisteredCommand};
use super::renderer::MessageRenderer;

/// The modules of a host: their commands and renderers, in load order.
#[derive(Debug, Clone, Default)]
pub struct Modules {
    handles: Vec<ModuleHandle>,
    commands: Vec<Arc<RegisteredCommand>>,
    renderers: Vec<(String, MessageRenderer)>,
    errors: Arc<ModuleErrors>,
}

impl Modules {
    /// Loads a module; returns its handlers, as hooks.
    pub(crate) fn load(
        &mut self,
        module: &impl HookModule,
    ) -> Result<Vec<HandlerHook>, ModuleError> {
        let api = ModuleApi::load(module, &self.errors)?;
        self.handles.push(api.handle().clone());
        let ModuleApi { hooks, commands, renderers, .. } = api;
        self.commands.extend(commands);
        self.renderers.extend(renderers);
        Ok(hooks)
    }

    /// Connects the modules to the host and its services.
    pub(crate) fn ready(&self, host: Option<&Arc<dyn HostServices>>) {
        for handle in &self.handles {
            handle.ready(host.cloned());
        }
    }

    /// Returns the command of this name: the first one loaded.
    pub fn get_command(&self, name: &str) -> Option<&Arc<RegisteredCommand>> {
        self.commands.iter().find(|command| command.name() == name)
    }

    /// Returns all commands, including those with repeated names.
    pub fn get_registered_commands(&self) -> &[Arc<RegisteredCommand>] {
        &self.commands
    }

    /// Returns the renderer of this message type: the first one loaded.
    pub fn get_message_renderer(&self, custom_type: &str) -> Option<&MessageRenderer> {
        let mut renderers = self.renderers.iter();
        renderers
            .find(|(registered_type, _)| registered_type == custom_type)
            .map(|(_, renderer)| renderer)
    }

    /// Adds a listener of handler failures that block nothing, until the returned handle is
    /// dropped. The listener must not block.
    pub fn on_error(
        &self,
        listener: impl Fn(&ModuleFault) + Send + Sync + 'static,
    ) -> ErrorListener {
        self.errors.on_error(listener)
    }

    /// Returns the descriptions of all commands.
    pub(crate) fn commands(&self) -> impl Iterator<Item = CommandInfo> + '_ {
        let info = |command: &Arc<RegisteredCommand>| {
            CommandInfo::new(command.name(), command.description(), command.module())
        };
        self.commands.iter().map(info)
    }

    /// Returns the listeners of errors.
    pub(crate) fn errors(&self) -> &Arc<ModuleErrors> {
        &self.errors
    }
}
